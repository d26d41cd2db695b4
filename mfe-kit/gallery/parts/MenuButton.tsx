/** A button with a menu. Arrows and first letters move in it; Escape and Tab leave it. */
import { Icon } from 'mfe-kit/ui';
import { MenuButton } from 'mfe-kit/ui-layout';

export function Menu() {
  return (
    <MenuButton
      label="Account of Achieng"
      face={
        <>
          Achieng <Icon name="down" size={15} />
        </>
      }
      heading="agent@mkopo.test"
      items={[
        { label: 'Profile', icon: 'user', to: '/profile' },
        { label: 'Logout', icon: 'signOut', onSelect: () => undefined },
      ]}
    />
  );
}
