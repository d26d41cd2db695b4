/** A text field. Put it into a Field, which labels it. */
import { Icon, Input } from 'mfe-kit/ui';

export function Empty() {
  return <Input aria-label="Nickname" placeholder="Nickname" />;
}

export function Filled() {
  return <Input aria-label="Nickname" defaultValue="Shiko" />;
}

export function WithAnIcon() {
  return <Input aria-label="Email" type="email" prefix={<Icon name="mail" size={15} />} />;
}

export function Invalid() {
  return <Input aria-label="Phone number" status="error" aria-invalid defaultValue="0712" />;
}

export function Disabled() {
  return <Input aria-label="Loan" disabled defaultValue="LN-2026-00917" />;
}
