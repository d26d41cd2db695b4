import { Modal } from 'mfe-kit/ui-data';
import type { ReactNode } from 'react';

interface ProfileDialogProps {
  isOpen: boolean;
  title: string;
  width?: number;
  footer?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog over the profile; it forgets what was typed when it is closed. */
export function ProfileDialog({
  isOpen,
  title,
  width = 448,
  footer = null,
  onClose,
  children,
}: ProfileDialogProps) {
  return (
    <Modal
      open={isOpen}
      onCancel={onClose}
      closable={false}
      width={width}
      centered
      destroyOnHidden
      title={title}
      footer={footer}
    >
      {children}
    </Modal>
  );
}
