import Input from 'antd/es/input/Input';
import { useState } from 'react';
import { Icon } from './Icon';

interface SearchBoxProps {
  /** Names the field for assistive technology. */
  label: string;
  placeholder: string;
  /** The search in force, such as the one in the address. */
  value: string;
  /** Called with the whole text at each keystroke. */
  onSearch: (text: string) => void;
  className?: string;
}

/** The search of a list. While somebody types, their text stands, however late `value` follows. */
export function SearchBox({ label, placeholder, value, onSearch, className }: SearchBoxProps) {
  // The router follows in a transition; a field drawn from the address alone would lose fast keystrokes.
  const [draft, setDraft] = useState<string | null>(null);

  return (
    <Input
      {...(className ? { className } : {})}
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
