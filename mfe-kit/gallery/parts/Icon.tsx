/** A decorative icon beside text. */
import { Icon, ICONS } from 'mfe-kit/ui';

export function All() {
  return ICONS.map((name) => (
    <span key={name}>
      <Icon name={name} /> {name}
    </span>
  ));
}

export function Small() {
  return <Icon name="money" size={15} />;
}
