import { Component, type ReactNode } from 'react';
import { forgetSlice, SliceFailure } from './load-slice';
import { SliceFailed } from './SliceFailed';

interface SliceBoundaryProps {
  name: string;
  /** The page's path; another one is another try. */
  pathname: string;
  children: ReactNode;
}

/** Keeps a slice that can't be loaded, or that crashes while drawing, from taking anything else with it. */
export class SliceBoundary extends Component<SliceBoundaryProps, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidUpdate({ pathname }: SliceBoundaryProps) {
    if (this.state.error && pathname !== this.props.pathname) this.tryAgain();
  }

  private tryAgain() {
    if (this.state.error instanceof SliceFailure) forgetSlice(this.props.name);
    this.setState({ error: null });
  }

  private readonly retry = () => {
    // A screen that crashed, or whose code did not arrive, is remembered by React: only a fresh page asks again.
    if (this.state.error instanceof SliceFailure) this.tryAgain();
    else window.location.reload();
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <SliceFailed name={this.props.name} error={error} onRetry={this.retry} />;
  }
}
