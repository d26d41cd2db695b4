import type { UseMutationResult } from '@tanstack/react-query';
import { Button, Note, useFocusLoop } from 'mfe-kit/ui';
import { useEffect, useId, useRef } from 'react';
import classes from './StoryCard.module.css';
import { storyFailure } from './story-failure';
import { storyTexts } from './story-texts';

interface AgainDialogProps {
  isOpen: boolean;
  again: UseMutationResult<void, Error, void>;
  onClose: () => void;
}

/** Asks before all that has happened in the sandbox is lost. It is the browser's modal dialog, which antd's would outweigh. */
export function AgainDialog({ isOpen, again, onClose }: AgainDialogProps) {
  const texts = storyTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useFocusLoop(dialog, isOpen);

  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);

  return (
    <dialog
      className={`raised ${classes.dialog}`}
      ref={dialog}
      aria-labelledby={id}
      onClose={() => {
        if (!again.isPending) again.reset();
        onClose();
      }}
    >
      <h2 id={id}>{texts.againTitle}</h2>
      <p>{texts.againText}</p>
      {again.isError ? (
        <Note tone="bad" title={texts.notBegun}>
          <p>{storyFailure(again.error)}</p>
        </Note>
      ) : null}
      <div className={classes.acts}>
        <Button disabled={again.isPending} onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button
          type="primary"
          danger
          loading={again.isPending}
          onClick={() => again.mutate(undefined, { onSuccess: onClose })}
        >
          {texts.startAgain}
        </Button>
      </div>
    </dialog>
  );
}
