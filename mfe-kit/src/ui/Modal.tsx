import type { ModalProps } from 'antd/es/modal/interface';
import AntdModal from 'antd/es/modal/Modal';
import { useRef } from 'react';
import { useFocusLoop } from './useFocusLoop';

/** antd's dialog, which fades in where it stays, and which Tab does not leave while it is open. */
export function Modal({ children, open = false, ...props }: ModalProps) {
  const content = useRef<HTMLDivElement>(null);
  useFocusLoop(content, open);
  return (
    <AntdModal
      // Otherwise it grows, and a click on a button that moves away from under the pointer is lost.
      transitionName="ant-fade"
      {...props}
      open={open}
      modalRender={(drawn) => (
        <div ref={content} tabIndex={-1} style={{ overflowWrap: 'anywhere' }}>
          {drawn}
        </div>
      )}
    >
      {children}
    </AntdModal>
  );
}
