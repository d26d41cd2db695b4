/** An on/off setting of antd, inside its label. */
import { Switch } from 'mfe-kit/ui-data';

export function States() {
  return (
    <>
      <label>
        <Switch /> SMS
      </label>
      <label>
        <Switch defaultChecked /> E-mail
      </label>
      <label>
        <Switch disabled /> Fax
      </label>
    </>
  );
}
