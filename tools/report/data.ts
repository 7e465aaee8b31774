// What tools/report_data.cpp writes. Lists of one kind of thing are columns; an index names an entry
// of another list, -1 none. Bytes are numbers: exact below 2^53.

interface Finding {
  rule: string; title: string; severity: string; message: string; help: string; now: string;
  also: string[]; ops: string[]; tensors: string[]; alias_chain: string[]; iteration: number[];
  accepted?: string;
  pool?: number; bytes?: [number, number];
  at: number[];   // Its ops: commands that are drawn.
  of: number[];   // Its tensors.
  omitted: number;
  run: [name: string, iteration: number, completes: number, lane: number][];
  rows?: { bytes: [number, number]; versions: [step: number, base: number, words: string][] }[];
  reads?: { step: number; row: number; tensor: string; meets: boolean; expects: string }[];
  problem?: string;
}

interface Pool {
  name: string; kind: string; capacity?: number; claimed?: number;
  peak: number; total: number; live_set: number; live_at: number;
  curve_time: number[]; curve_bytes: number[]; raster?: string;
}

interface PlanData {
  plan: string; file: string; verdict: "safe" | "unsafe" | "unknown"; line: string;
  decided_by: string; one_wait: string; stopped: boolean; assumes: string[];
  drawn: { time: "level" | "tick"; end: number; iterations: number; of: number; stuck: number;
           case: string[] };
  counts: { ops: number; tensors: number; storages: number; commands: number; ranges: number;
            kept_commands: number; kept_ranges: number };
  pools: Pool[];
  lanes: { name: string; order: string; busy?: string }[];
  storages: { name: string[]; pool: number[]; bytes: number[]; at: number[] };
  tensors: { name: string[]; base: number[]; storage: number[]; bytes: number[]; type: number[];
             role: number[]; types: string[] };
  ops: { name: string[]; label: number[]; kind: number[]; lane: number[]; file: number[];
         line: number[]; labels: string[]; files: string[] };
  commands: { op: number[]; iteration: number[]; start: number[]; end: number[] };
  uses: { op: number[]; tensor: number[]; kind: number[] };
  ranges: { root: number[]; op: number[]; iteration: number[]; pool: number[]; at: number[];
            bytes: number[]; start: number[]; end: number[]; role: number[] };
  views: { tensor: number[]; range: number[]; at: number[]; bytes: number[]; start: number[]; end: number[] };
  reuse: { from: number[]; to: number[] };
  unmet: { command: number[]; what: number[]; words: string[] };   // Of commands that never start.
  syncs: { from: number[]; to: number[]; reason: number[] };
  findings: Finding[];
}

const OP_KINDS = ["op", "view", "record", "wait", "barrier", "host wait", "alloc", "free",
                  "unknown op"];
const USE_KINDS = ["reads", "writes", "accumulates", "clobbers"];
const SYNC_KINDS = ["event", "semaphore", "after", "barrier or host wait", "count of ops"];
const RASTER_WIDTH = 480;
const RASTER_HEIGHT = 240;
const SHADES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/** The share, 0 to 1, that each field of a raster is covered. */
function shares(raster: string): Float32Array {
  const out = new Float32Array(raster.length);
  for (let k = 0; k < raster.length; k++) out[k] = SHADES.indexOf(raster[k]) / (SHADES.length - 1);
  return out;
}

/** Time after the end of the drawn run in which what never starts stands. */
function stuckRoom(data: PlanData): number {
  return data.drawn.stuck > 0 ? Math.max(Math.ceil(data.drawn.end / 5), 1) : 0;
}

/** The root of a tensor. */
function rootOf(data: PlanData, tensor: number): number {
  while (data.tensors.base[tensor] >= 0) tensor = data.tensors.base[tensor];
  return tensor;
}

/** Whether messages must say which iteration they mean. */
function repeats(data: PlanData): boolean {
  return data.drawn.of !== 1;
}
