/** A checkbox with its label. */
import { Checkbox } from 'mfe-kit/ui';

export function States() {
  return (
    <>
      <Checkbox>Remember me</Checkbox>
      <Checkbox defaultChecked>Only mine</Checkbox>
      <Checkbox disabled>Archived</Checkbox>
    </>
  );
}
