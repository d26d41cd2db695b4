import { Button, PageHeader } from 'mfe-kit/ui';
import { useNavigate } from 'react-router';
import { PublicFrame } from '../layout/PublicFrame';
import classes from './NotFoundPage.module.css';

/** Any unknown address, for every visitor. */
export function NotFoundPage() {
  const navigate = useNavigate();
  return (
    <PublicFrame>
      <main className={classes.page}>
        <PageHeader title="Page Not Found" subtitle="The page you are looking for could not be found." />
        <Button type="primary" onClick={() => void navigate('/')}>
          Back to Dashboard
        </Button>
      </main>
    </PublicFrame>
  );
}
