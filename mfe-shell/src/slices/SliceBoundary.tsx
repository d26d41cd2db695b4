import { Component, type ReactNode } from 'react';
import { forgetSlice, SliceFailure } from './load-slice';
import { SliceFailed } from './SliceFailed';

interface SliceBoundaryProps {
  name: string;
  /** The page's path; a change tries again. */
  pathname: string;
  children: ReactNode;
}

/** Limits a failure to load or draw a slice to the slice's place. */
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
    // React keeps the result of a screen that crashed or did not load: only a reload tries again.
    if (this.state.error instanceof SliceFailure) this.tryAgain();
    else window.location.reload();
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <SliceFailed name={this.props.name} error={error} onRetry={this.retry} />;
  }
}
