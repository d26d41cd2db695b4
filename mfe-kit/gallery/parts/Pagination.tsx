/** The page navigation of a list. With no rows it draws nothing. */
import { useState } from 'react';
import { Pagination } from 'mfe-kit/ui-data';

export function ManyPages() {
  const [page, setPage] = useState(4);
  const [pageSize, setPageSize] = useState(10);
  return <Pagination page={page} pageSize={pageSize} total={245} onPage={setPage} onPageSize={setPageSize} />;
}

export function OnePage() {
  return (
    <Pagination page={1} pageSize={25} total={12} onPage={() => undefined} onPageSize={() => undefined} />
  );
}
