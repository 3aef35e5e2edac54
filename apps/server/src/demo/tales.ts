/**
 * The shipped demo text: short tales written by a seeded grammar. Simple enough for a tiny model to learn within
 * minutes, regular enough that its progress can be read in what it writes.
 */
import { Random } from '@tabweave/shared';

const heroes = ['fox', 'owl', 'bear', 'hare', 'mouse', 'wolf', 'frog', 'crow'];
const moods = ['small', 'old', 'brave', 'quiet', 'clever', 'tired', 'happy', 'hungry'];
const places = ['hill', 'river', 'forest', 'mill', 'garden', 'bridge', 'barn', 'lake'];
const things = ['lantern', 'apple', 'drum', 'map', 'key', 'kite', 'bell', 'basket'];
const times = ['One morning', 'At noon', 'One evening', 'In the spring', 'After the rain', 'On a cold day'];
const ends = [
  'and they were friends from that day on',
  'and nobody was hungry that night',
  'and the whole valley heard of it',
  'and then it was time to go home',
  'and the stars came out one by one',
];

export function writeTales(seed: number, count: number): string {
  const random = new Random(seed);
  const pick = (list: readonly string[]): string => list[random.below(list.length)] as string;
  const tale = (): string => {
    const hero = pick(heroes);
    const friend = pick(heroes.filter((other) => other !== hero));
    const thing = pick(things);
    const place = pick(places);
    const lines = [
      `${pick(times)} a ${pick(moods)} ${hero} walked to the ${place}.`,
      `By the ${place} the ${hero} found a ${thing}.`,
      `"Whose ${thing} is this?" said the ${hero}.`,
      `"It is mine," said the ${friend}, "but I will share it with you."`,
      `So the ${hero} and the ${friend} shared the ${thing}, ${pick(ends)}.`,
    ];
    return lines.join('\n');
  };
  return Array.from({ length: count }, tale).join('\n\n') + '\n';
}
