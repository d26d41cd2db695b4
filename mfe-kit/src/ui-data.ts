/** Parts for lists, forms and dialogs, with those of antd; loaded once a user is signed in. */
export { default as Select } from 'antd/es/select';
export { default as Switch } from 'antd/es/switch';
export { type Column, type Sort } from './ui/column';
export { DataTable } from './ui/DataTable';
export { Figure, Figures } from './ui/Figure';
export { Filters } from './ui/Filters';
export {
  countFilters,
  type FilteredFacts,
  filtersFrom,
  type ListFilters,
  NO_FILTERS,
  rowFilter,
  writeFilters,
} from './ui/list-filters';
export { ListTools } from './ui/ListTools';
export { Modal } from './ui/Modal';
export { Pagination } from './ui/Pagination';
export { Person } from './ui/Person';
export { PreferenceFields } from './ui/PreferenceFields';
export { SearchBox } from './ui/SearchBox';
export { ThemeProvider } from './ui/ThemeProvider';
export { useAddressState } from './ui/useAddressState';
