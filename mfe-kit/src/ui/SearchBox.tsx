import { useState } from 'react';
import { Icon } from './Icon';
import { Input } from './Input';

interface SearchBoxProps {
  /** Names the field for assistive technology. */
  label: string;
  placeholder: string;
  /** The current search, such as the one in the address. */
  value: string;
  /** Called with the whole text on each keystroke. */
  onSearch: (text: string) => void;
}

/** The search field of a list. It keeps the typed text itself, however late `value` is updated. */
export function SearchBox({ label, placeholder, value, onSearch }: SearchBoxProps) {
  // The router updates in a transition: a field that showed the address only would lose fast keystrokes.
  const [draft, setDraft] = useState<string | null>(null);

  return (
    <Input
      type="search"
      prefix={<Icon name="search" size={15} />}
      aria-label={label}
      placeholder={placeholder}
      autoComplete="off"
      value={draft ?? value}
      onChange={({ target }) => {
        setDraft(target.value);
        onSearch(target.value);
      }}
      onBlur={() => setDraft(null)}
    />
  );
}
