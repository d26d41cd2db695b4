import { displayName, type SessionUser } from 'mfe-kit';
import { Avatar } from 'mfe-kit/ui';
import { useState } from 'react';
import classes from './ProfilePage.module.css';

export function Picture({ user }: { user: SessionUser | null }) {
  const [isMissing, setMissing] = useState(false);
  if (!user?.avatar || isMissing) return <Avatar name={displayName(user)} large />;
  return <img className={classes.picture} src={user.avatar} alt="" onError={() => setMissing(true)} />;
}
