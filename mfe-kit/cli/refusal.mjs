/** Why a command can't do its work, in a sentence for the person who ran it. */
export class Refusal extends Error {}
