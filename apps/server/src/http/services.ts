import type { DatasetService } from '../datasets/dataset-service.ts';
import type { ModelService } from '../models/model-service.ts';
import type { RunService } from '../runs/run-service.ts';
import type { AdminAuth } from '../security/admin-auth.ts';
import type { BlobStore } from '../storage/blobs.ts';

/** What the routes stand on. */
export interface Services {
  auth: AdminAuth;
  blobs: BlobStore;
  datasets: DatasetService;
  models: ModelService;
  runs: RunService;
  /** Folder for uploads under way. */
  temporaryFolder: string;
  /** Links under which volunteers reach this server. */
  donateUrls: () => string[];
  version: string;
}
