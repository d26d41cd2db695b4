import { Component, type ErrorInfo, type ReactNode } from 'react';
import { forgetSlices, SliceFailure } from './load-slice';
import { SliceFailed } from './SliceFailed';

interface SliceBoundaryProps {
  name: string;
  children: ReactNode;
}

/** Keeps a slice that can't be loaded, or that crashes while drawing, from taking anything else with it. */
export class SliceBoundary extends Component<SliceBoundaryProps, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: Error, { componentStack }: ErrorInfo) {
    console.error(`${this.props.name} failed`, error, componentStack);
  }

  private readonly retry = () => {
    // A screen that crashed, or whose code did not arrive, is remembered by React: only a fresh page asks again.
    if (!(this.state.error instanceof SliceFailure)) return window.location.reload();
    forgetSlices();
    this.setState({ error: null });
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    const version = error instanceof SliceFailure ? error.version : undefined;
    return (
      <SliceFailed name={this.props.name} version={version} reason={error.message} onRetry={this.retry} />
    );
  }
}
