import { Link } from 'react-router';
import { portalSettings } from 'mfe-kit';
import classes from './Brand.module.css';
import { Icon } from './Icon';

/** The provider's brand, which leads to the dashboard. */
export function Brand() {
  return (
    <Link to="/" className={classes.brand}>
      <span className={classes.mark}>
        <Icon name="send" size={15} />
      </span>
      {portalSettings().brand}
    </Link>
  );
}
