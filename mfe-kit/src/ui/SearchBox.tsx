import { useState } from 'react';
import { Icon } from './Icon';
import { Input } from './Input';

interface SearchBoxProps {
  /** Names the field for assistive technology. */
  label: string;
  placeholder: string;
  /** The current search, such as the one in the address. */
  value: string;
  /** Called with the whole text on each keystroke, which is then the `value`. */
  onSearch: (text: string) => void;
}

/** The search field of a list. It keeps the typed text itself, however late `value` is updated. */
export function SearchBox({ label, placeholder, value, onSearch }: SearchBoxProps) {
  // The router updates in a transition: a field that showed the address only would lose fast keystrokes.
  // What was typed since `value` was last seen to follow, the latest last.
  const [sent, setSent] = useState<readonly string[]>([]);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    // A search that was not typed here, such as that of Back, takes the place of what was.
    setSent(sent.includes(value) ? sent.slice(sent.indexOf(value)) : []);
  }

  return (
    <Input
      type="search"
      prefix={<Icon name="search" size={15} />}
      aria-label={label}
      placeholder={placeholder}
      autoComplete="off"
      value={sent.at(-1) ?? value}
      onChange={({ target }) => {
        setSent((before) => [...before, target.value]);
        onSearch(target.value);
      }}
      onBlur={() => setSent([])}
    />
  );
}
