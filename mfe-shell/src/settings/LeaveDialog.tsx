import { Button } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { settingsTexts } from './settings-texts';
import classes from './SettingsPage.module.css';

/** Asks before changes that are not saved are lost; the browser asks where it closes or reloads the page. */
export function LeaveDialog({ isChanged }: { isChanged: boolean }) {
  const texts = settingsTexts();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => isChanged && currentLocation.pathname !== nextLocation.pathname,
  );

  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isChanged]);

  return (
    <Modal
      open={blocker.state === 'blocked'}
      onCancel={() => blocker.reset?.()}
      closable={false}
      width={420}
      centered
      destroyOnHidden
      title={texts.leave}
      footer={null}
    >
      <p>{texts.leaveText}</p>
      <div className={classes.actions}>
        <Button onClick={() => blocker.reset?.()}>{texts.stay}</Button>
        <Button type="primary" onClick={() => blocker.proceed?.()}>
          {texts.discard}
        </Button>
      </div>
    </Modal>
  );
}
