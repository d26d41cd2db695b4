/** The person of a table row. */
import { Person } from 'mfe-kit/ui-data';

export function WithDetails() {
  return <Person name="Wanjiku Kamau" details={['0712 345 678', 'ID 28461937']} />;
}

export function NameOnly() {
  return <Person name="Achieng Otieno" details={[]} />;
}
