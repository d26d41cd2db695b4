import { Icon } from 'mfe-kit/ui';
import { Notices } from './notices/Notices';

/** What the page shows before any code runs, for as long as the frame is not there; index.html has the same. */
export function FirstPaint() {
  return (
    <>
      <Notices />
      <div className="first-paint" role="status" aria-label="Loading">
        <span>
          <Icon name="send" size={15} />
        </span>
      </div>
    </>
  );
}
