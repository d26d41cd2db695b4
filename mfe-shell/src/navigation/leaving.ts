/** Asks the person, and calls `leave` if they want to lose their changes. */
type Question = (leave: () => void) => void;

let question: Question | null = null;

/**
 * Acts that leave the page without a navigation, such as signing out. The router's blockers see no navigation
 * before the page is gone, with all that was typed on it.
 */
export const leaving = {
  leave(act: () => void): void {
    if (question) question(act);
    else act();
  },

  /** Asks from now on; returns how to stop. */
  askFirst(asked: Question): () => void {
    question = asked;
    return () => {
      if (question === asked) question = null;
    };
  },
};
