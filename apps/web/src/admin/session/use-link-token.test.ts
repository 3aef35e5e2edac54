import { expect, test } from 'vitest';
import { splitLinkToken } from './use-link-token.ts';

test('takes the token out of query or fragment and leaves the rest', () => {
  expect(splitLinkToken('http://localhost:8080/admin?token=abc&tab=details')).toEqual({
    token: 'abc',
    rest: 'http://localhost:8080/admin?tab=details',
  });
  expect(splitLinkToken('http://localhost:8080/admin#token=abc')).toEqual({
    token: 'abc',
    rest: 'http://localhost:8080/admin',
  });
});

test('leaves an address without a token alone', () => {
  const address = 'http://localhost:8080/admin/runs/abcd?tab=details#charts';
  expect(splitLinkToken(address)).toEqual({ token: null, rest: address });
});
