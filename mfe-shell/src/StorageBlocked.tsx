import { portalSettings } from 'mfe-kit';
import { Button, FailedState, PageHeader } from 'mfe-kit/ui';
import { shellTexts } from './shell-texts';
import classes from './StorageBlocked.module.css';

/** Shown in place of every page where the browser lets the portal store nothing: nobody could stay signed in. */
export function StorageBlocked() {
  const texts = shellTexts();
  return (
    <main className={classes.page}>
      <PageHeader title={portalSettings().brand} />
      <FailedState
        title={texts.storageBlocked}
        message={texts.allowStorage(window.location.host)}
        action={
          <Button type="primary" onClick={() => window.location.reload()}>
            {texts.reload}
          </Button>
        }
      />
    </main>
  );
}
