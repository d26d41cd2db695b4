import { Button, PageHeader } from 'mfe-kit/ui';
import { useNavigate } from 'react-router';
import { PublicFrame } from '../layout/PublicFrame';
import { useScreenDrawn } from '../navigation/useScreenDrawn';
import { shellTexts } from '../shell-texts';
import classes from './NotFoundPage.module.css';

/** Any unknown address, for every visitor. */
export function NotFoundPage() {
  const navigate = useNavigate();
  const texts = shellTexts();
  useScreenDrawn();
  return (
    <PublicFrame>
      <main className={classes.page}>
        <PageHeader title={texts.notFound} subtitle={texts.notFoundText} />
        <Button type="primary" onClick={() => void navigate('/')}>
          {texts.backToDashboard}
        </Button>
      </main>
    </PublicFrame>
  );
}
