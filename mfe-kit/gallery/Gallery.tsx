import { CopyButton, ThemeToggle } from 'mfe-kit/ui';
import { memo } from 'react';
import kitPackage from '../package.json';
import classes from './Gallery.module.css';
import { ENTRIES, type Part, PARTS } from './parts';

/** Every part of the kit in each of its states, with the code that draws it. */
export function Gallery() {
  return (
    <>
      <a className={classes.skip} href="#parts">
        Skip to the parts
      </a>
      <header className={classes.header}>
        <h1>
          Parts of mfe-kit <small>{kitPackage.version}</small>
        </h1>
        <ThemeToggle />
      </header>
      <div className={classes.page}>
        <nav className={classes.contents} aria-label="Parts">
          {ENTRIES.map((entry) => (
            <div key={entry}>
              <h2>{entry}</h2>
              <ul role="list">
                {partsOf(entry).map(({ name }) => (
                  <li key={name}>
                    <a href={`#${name}`}>{name}</a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <main id="parts" tabIndex={-1}>
          {ENTRIES.flatMap(partsOf).map((part) => (
            <PartSection key={part.name} part={part} />
          ))}
        </main>
      </div>
    </>
  );
}

function partsOf(entry: string): Part[] {
  return PARTS.filter((part) => part.entry === entry);
}

const PartSection = memo(function PartSection({ part: { name, about, setup, states } }: { part: Part }) {
  return (
    <section className={classes.part} id={name} aria-labelledby={`${name}-name`}>
      <h2 id={`${name}-name`}>{name}</h2>
      <p className={classes.about}>{about}</p>
      <Code code={setup} label={`Copy the imports of ${name}`} />
      {states.map(({ title, code, Component }) => (
        <figure key={title} className={classes.state} aria-label={`${name}: ${title}`}>
          <figcaption>{title}</figcaption>
          <div className={classes.preview} data-preview={`${name}: ${title}`}>
            <Component />
          </div>
          <Code code={code} label={`Copy the code of ${name}, ${title}`} />
        </figure>
      ))}
    </section>
  );
});

function Code({ code, label }: { code: string; label: string }) {
  return (
    <div className={classes.code}>
      <pre>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} label={label} />
    </div>
  );
}
