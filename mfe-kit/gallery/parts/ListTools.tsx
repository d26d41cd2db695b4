/** The search box and the filter above a list. */
import { Button } from 'mfe-kit/ui';
import { ListTools, SearchBox, Select } from 'mfe-kit/ui-data';

export function AboveAList() {
  return (
    <ListTools
      search={
        <SearchBox label="Search repayments" placeholder="Name or loan" value="" onSearch={() => undefined} />
      }
      filter={
        <Select
          aria-label="Filter"
          defaultValue="all"
          options={[{ value: 'all', label: 'All statuses' }]}
          virtual={false}
        />
      }
    >
      <Button>Clear</Button>
    </ListTools>
  );
}
