/// <reference types="webpack/module" />
import type { ComponentType } from 'react';
import { type Example, examplesIn } from './examples';

/** A part of the kit, with an example of each of its states. */
export interface Part extends Example {
  states: (Example['states'][number] & { Component: ComponentType })[];
}

interface Module {
  /** The text of the file, which the build adds. */
  code: string;
  [name: string]: unknown;
}

const files = import.meta.webpackContext('./parts', { regExp: /\.tsx$/ });

/** Every part, by its entry and its name. */
export const PARTS: Part[] = files.keys().map((path) => {
  const module = files(path) as Module;
  const name = path.replace(/^\.\/|\.tsx$/g, '');
  const example = examplesIn(name, module.code);
  const states = example.states.map((state) => ({
    ...state,
    Component: module[state.name] as ComponentType,
  }));
  return { ...example, states };
});

/** The entries that have parts, in the order in which a page loads them. */
export const ENTRIES = ['mfe-kit/ui', 'mfe-kit/ui-layout', 'mfe-kit/ui-data'];
