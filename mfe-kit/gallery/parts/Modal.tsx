/** A dialog of antd that Tab does not leave. */
import { useState } from 'react';
import { Button } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';

export function Confirmation() {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Open the dialog</Button>
      <Modal open={isOpen} title="Disburse KES 25,000?" okText="Disburse" onOk={close} onCancel={close}>
        <p>To Wanjiku Kamau, 0712 345 678.</p>
      </Modal>
    </>
  );
}
