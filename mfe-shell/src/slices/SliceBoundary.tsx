import { Component, type ErrorInfo, type ReactNode } from 'react';
import type { SliceBuild } from '../live-slices';
import { crashOf } from '../reports/crash';
import { report } from '../reports/report';
import { screenAt } from './brought';
import { CHANGED } from './integrity';
import { forgetFailure, forgetSlice, loadedSlices, SliceFailure } from './load-slice';
import { SliceFailed } from './SliceFailed';

interface SliceBoundaryProps {
  name: string;
  pathname: string;
  children: ReactNode;
}

/** Limits a failure to load or draw a slice to the slice's place. */
export class SliceBoundary extends Component<SliceBoundaryProps, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  constructor(props: SliceBoundaryProps) {
    super(props);
    forgetFailure(props.name);
  }

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo) {
    const { name, pathname } = this.props;
    const build = loadedSlices().get(name)?.used;
    if (build?.integrity && !(error instanceof SliceFailure)) {
      const route = screenAt(pathname)?.path;
      const folder = new URL('.', new URL(build.entry, window.location.href)).href;
      const crash = crashOf(error, folder, componentStack ?? '');
      report({
        slice: name,
        version: build.version,
        outcome: 'crashed',
        ...(route ? { route } : {}),
        ...crash,
      });
    }
    const request = error instanceof Error && 'request' in error ? error.request : undefined;
    if (build && typeof request === 'string') void this.checkFile(build, request);
  }

  /** A file that the bundler did not get may have been changed. */
  private async checkFile(build: SliceBuild, address: string) {
    const { refuseChanged } = await import('./load-failures');
    if (await refuseChanged(this.props.name, build, address))
      this.setState({ error: new Error(`${CHANGED}. Retry loads the previous version.`) });
  }

  override componentDidUpdate({ pathname }: SliceBoundaryProps) {
    if (this.state.error && pathname !== this.props.pathname) this.tryAgain();
  }

  private readonly tryAgain = () => {
    if (this.state.error instanceof SliceFailure) forgetSlice(this.props.name);
    this.setState({ error: null });
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <SliceFailed name={this.props.name} error={error} onRetry={this.tryAgain} />;
  }
}
