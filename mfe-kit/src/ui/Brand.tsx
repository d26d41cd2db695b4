import { Link } from 'react-router';
import { portalSettings } from 'mfe-kit';
import classes from './Brand.module.css';
import { Icon } from './Icon';

/** The deployment's brand, as a link to the dashboard. */
export function Brand() {
  return (
    <Link to="/" className={classes.brand}>
      <span className={classes.mark}>
        <Icon name="send" size={15} />
      </span>
      <span className={classes.name}>{portalSettings().brand}</span>
    </Link>
  );
}
