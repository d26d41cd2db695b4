import { Component, type ReactNode } from 'react';

/** A story that can't be drawn is not shown, and costs nobody their screen. */
export class StoryBoundary extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? null : this.props.children;
  }
}
