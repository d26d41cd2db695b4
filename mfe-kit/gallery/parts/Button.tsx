/** A button. A page has one primary button; danger is for what can't be undone. */
import { Button, Icon } from 'mfe-kit/ui';

export function Kinds() {
  return (
    <>
      <Button type="primary">Disburse</Button>
      <Button>Cancel</Button>
      <Button danger>Discard</Button>
      <Button type="text">Details</Button>
      <Button type="link">Show all</Button>
    </>
  );
}

export function WithAnIcon() {
  return (
    <>
      <Button icon={<Icon name="download" />}>Download</Button>
      <Button icon={<Icon name="back" />} aria-label="Back" />
    </>
  );
}

export function Large() {
  return (
    <Button type="primary" size="large">
      Sign in
    </Button>
  );
}

export function Disabled() {
  return (
    <>
      <Button type="primary" disabled>
        Disburse
      </Button>
      <Button disabled>Cancel</Button>
    </>
  );
}

export function Busy() {
  return (
    <Button type="primary" loading>
      Disbursing
    </Button>
  );
}
