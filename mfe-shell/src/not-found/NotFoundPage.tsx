import { Button, PageHeader } from 'mfe-kit/ui';
import { useNavigate } from 'react-router';
import { PublicFrame } from '../layout/PublicFrame';
import classes from '../layout/PublicFrame.module.css';
import { useScreenDrawn } from '../navigation/useScreenDrawn';
import { shellTexts } from '../shell-texts';

/** Any unknown address, for every visitor. */
export function NotFoundPage() {
  const navigate = useNavigate();
  const texts = shellTexts();
  useScreenDrawn();
  return (
    <PublicFrame>
      <main className={classes.middle}>
        <PageHeader title={texts.notFound} subtitle={texts.notFoundText} />
        <Button type="primary" onClick={() => void navigate('/')}>
          {texts.backToDashboard}
        </Button>
      </main>
    </PublicFrame>
  );
}
