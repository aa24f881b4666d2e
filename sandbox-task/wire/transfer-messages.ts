/** The requests to the runner that carry a volume out of the sandbox or into it. */

/** Which of the two folders is saved or restored. */
export type VolumeName = 'workspace' | 'shared';

/** A checkpoint is pulled piece by piece and a restore acknowledged piece by piece: neither end holds more than one. */
export type TransferRequest =
  | {
      readonly type: 'checkpoint-open';
      readonly id: number;
      readonly transfer: string;
      readonly volume: VolumeName;
      readonly checkpoint: string;
      /** For the workspace alone: the shared volume has its own. */
      readonly base: string;
    }
  | { readonly type: 'checkpoint-read'; readonly id: number; readonly transfer: string }
  | {
      readonly type: 'restore-open';
      readonly id: number;
      readonly transfer: string;
      readonly volume: VolumeName;
      readonly checkpoint: string;
      /** Single entries of the workspace: no state that a checkpoint begins with. */
      readonly applies: boolean;
    }
  /** The payload is frames of shared/contracts/archive.ts, cut anywhere. */
  | { readonly type: 'restore-write'; readonly id: number; readonly transfer: string }
  | { readonly type: 'restore-end'; readonly id: number; readonly transfer: string }
  /**
   * The sent checkpoint of the shared volume is stored, and the next one holds the changes since; that of the workspace had nothing
   * new, and stays known by the name of the older one.
   */
  | {
      readonly type: 'checkpoint-settle';
      readonly id: number;
      readonly transfer: string;
      readonly volume: VolumeName;
      readonly checkpoint: string;
      /** Of the workspace alone. */
      readonly as: string;
    }
  /** Asks if the workspace is as this checkpoint has it. */
  | {
      readonly type: 'checkpoint-compare';
      readonly id: number;
      readonly transfer: string;
      readonly checkpoint: string;
    }
  /** Forgets it, finished or not. */
  | { readonly type: 'transfer-close'; readonly id: number; readonly transfer: string };
