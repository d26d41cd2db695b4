import { Icon } from 'mfe-kit/ui';
import { Notices } from './notices/Notices';

/** What the page shows until the layout is loaded; index.html has the same before any code runs. */
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
