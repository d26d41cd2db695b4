/** The search field of a list. It keeps what is typed, however late its value follows. */
import { useState } from 'react';
import { SearchBox } from 'mfe-kit/ui-data';

export function Typing() {
  const [search, setSearch] = useState('');
  return <SearchBox label="Search loans" placeholder="Name or loan" value={search} onSearch={setSearch} />;
}
