/** The initial of a name, beside that name. */
import { Avatar } from 'mfe-kit/ui';

export function Sizes() {
  return (
    <>
      <Avatar name="Wanjiku Kamau" />
      <Avatar name="Achieng Otieno" large />
    </>
  );
}
