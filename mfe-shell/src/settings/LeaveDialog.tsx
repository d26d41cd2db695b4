import { Button } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { useEffect, useState } from 'react';
import { useBlocker } from 'react-router';
import { leaving } from '../navigation/leaving';
import { settingsTexts } from './settings-texts';

/**
 * Asks before changes that are not saved are lost, by going elsewhere or by signing out; the browser asks where it closes
 * or reloads the page.
 */
export function LeaveDialog({ isChanged }: { isChanged: boolean }) {
  const texts = settingsTexts();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => isChanged && currentLocation.pathname !== nextLocation.pathname,
  );

  // The act that would leave the page without a navigation, while the person is asked.
  const [asked, setAsked] = useState<{ leave: () => void } | null>(null);

  useEffect(() => {
    if (!isChanged) return;
    return leaving.askFirst((leave) => setAsked({ leave }));
  }, [isChanged]);

  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isChanged]);

  function stay() {
    setAsked(null);
    blocker.reset?.();
  }

  function discard() {
    asked?.leave();
    blocker.proceed?.();
  }

  return (
    <Modal
      open={asked !== null || blocker.state === 'blocked'}
      onCancel={stay}
      closable={false}
      width={420}
      centered
      destroyOnHidden
      title={texts.leave}
      footer={null}
    >
      <p>{texts.leaveText}</p>
      <div className="actions">
        <Button onClick={stay}>{texts.stay}</Button>
        <Button type="primary" onClick={discard}>
          {texts.discard}
        </Button>
      </div>
    </Modal>
  );
}
