import { Icon } from 'mfe-kit/ui';
import { Notices } from './notices/Notices';
import { shellTexts } from './shell-texts';

/** The first view of the page, until the layout is loaded; index.html has the same before any code runs. */
export function FirstPaint() {
  return (
    <>
      <Notices />
      <div className="first-paint" role="status" aria-label={shellTexts().loading}>
        <span>
          <Icon name="send" size={15} />
        </span>
      </div>
    </>
  );
}
