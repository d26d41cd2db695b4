/** A decorative icon beside text. */
import { Icon, type IconName } from 'mfe-kit/ui';

const NAMES: IconName[] = [
  'home',
  'clock',
  'transfer',
  'settings',
  'moon',
  'sun',
  'bell',
  'down',
  'back',
  'menu',
  'search',
  'filter',
  'success',
  'failure',
  'alert',
  'info',
  'ascending',
  'descending',
  'sortable',
  'money',
  'calendar',
  'copy',
  'check',
  'close',
  'send',
  'mail',
  'user',
  'signOut',
  'first',
  'previous',
  'next',
  'last',
  'empty',
  'chart',
  'download',
];

export function All() {
  return NAMES.map((name) => (
    <span key={name}>
      <Icon name={name} /> {name}
    </span>
  ));
}

export function Small() {
  return <Icon name="money" size={15} />;
}
