/** Figures side by side: four in a row, two on narrow screens. */
import { Figure, Figures } from 'mfe-kit/ui-data';

export function InARow() {
  return (
    <Figures>
      <Figure icon="clock" title="Pending" value="24" note="3 since yesterday" />
      <Figure icon="money" title="To disburse" value="KES 612,000" />
      <Figure icon="success" title="Disbursed today" value="18" />
      <Figure icon="chart" title="Success rate" value="97.4%" />
    </Figures>
  );
}
