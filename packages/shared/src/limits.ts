/** Bounds on everything that enters from outside. Bytes unless named otherwise. */
export const limits = {
  /** A dataset upload. */
  datasetBytes: 256 * 1024 * 1024,
  /** A tokenizer.json upload. */
  tokenizerBytes: 32 * 1024 * 1024,
  /** A JSON request body. */
  jsonBodyBytes: 256 * 1024,
  /** One socket message; larger closes the connection, so every tensor is chunked below it. */
  socketMessageBytes: 1024 * 1024,
  /** Payload of one contribution frame. */
  frameBytes: 256 * 1024,
  /** Frames sent and not yet acknowledged, per contribution. */
  framesInFlight: 8,
  /** Contribution bytes being assembled at one time, all workers together. */
  uploadBytesInFlight: 1024 * 1024 * 1024,
  /** Socket messages of one worker: a token bucket. */
  socketMessagesPerSecond: 400,
  socketMessageBurst: 800,
  /** Connections from one address that have not yet said hello. */
  connectionsPerAddress: 128,
  /** Parameters of one model. */
  modelParameters: 400_000_000,
  runs: 1000,
  /** Runs that hold parameters in memory at one time. */
  activeRuns: 8,
  workersPerRun: 4096,
  globalBatch: 65_536,
  maxSteps: 10_000_000,
  nameLength: 100,
  descriptionLength: 2000,
} as const;
