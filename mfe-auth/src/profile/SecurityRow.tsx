import { Button } from 'mfe-kit/ui';
import { useId } from 'react';

interface SecurityRowProps {
  title: string;
  text: string;
  action: string;
  /** Without it, the button does nothing. */
  onAct?: () => void;
}

export function SecurityRow({ title, text, action, onAct }: SecurityRowProps) {
  const id = useId();
  return (
    <li>
      <div>
        <strong id={id}>{title}</strong>
        <p className="detail">{text}</p>
      </div>
      <Button aria-describedby={id} onClick={onAct}>
        {action}
      </Button>
    </li>
  );
}
