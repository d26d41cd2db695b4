/** The deployment's name, as a link to the dashboard. */
import { Brand } from 'mfe-kit/ui';

export function Link() {
  return <Brand />;
}
