/** A framed part of a page; its title is a heading and its accessible name. */
import { Button, Card } from 'mfe-kit/ui';

export function WithATitle() {
  return (
    <Card title="Customer" action={<Button size="small">Edit</Button>}>
      <p>Wanjiku Kamau</p>
    </Card>
  );
}

export function WithoutATitle() {
  return (
    <Card>
      <p>Wanjiku Kamau</p>
    </Card>
  );
}

export function Flush() {
  return (
    <Card title="Payouts" flush>
      <p>A table or a list reaches the frame.</p>
    </Card>
  );
}
