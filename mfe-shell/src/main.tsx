import 'mfe-kit/styles.css';
import './portal';
