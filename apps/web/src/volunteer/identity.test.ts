import { describe, expect, it } from 'vitest';
import { forgetIdentity, loadIdentity, saveIdentity } from './identity.ts';

function memory(): () => Storage {
  const items = new Map<string, string>();
  const store = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  } as Storage;
  return () => store;
}

describe('identity', () => {
  it('is kept between visits until it is forgotten', () => {
    const store = memory();
    expect(loadIdentity(store)).toBeNull();
    saveIdentity({ workerId: 'w1234', secret: 's' }, store);
    expect(loadIdentity(store)).toEqual({ workerId: 'w1234', secret: 's' });
    forgetIdentity(store);
    expect(loadIdentity(store)).toBeNull();
  });

  it('is none where what is stored is not one, or storage is refused', () => {
    const store = memory();
    for (const damaged of ['{', '"text"', '{"workerId": 3, "secret": "s"}', '{"workerId": "w1234"}']) {
      store().setItem('tabweave.identity', damaged);
      expect(loadIdentity(store)).toBeNull();
    }
    const refused = (): Storage => {
      throw new DOMException('denied', 'SecurityError');
    };
    expect(loadIdentity(refused)).toBeNull();
    expect(() => saveIdentity({ workerId: 'w1234', secret: 's' }, refused)).not.toThrow();
  });
});
