/** What a message or a state means for the reader. */
export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info';
