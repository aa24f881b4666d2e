/** The cache of which the SDK's endpoint discovery needs five methods, which no function turns on: the package has thirty. */
// biome-ignore lint/style/noDefaultExport: the package has one
export default class LruCache<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** The last is the newest. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#capacity && oldest !== undefined) this.#entries.delete(oldest);
  }

  clear(): void {
    this.#entries.clear();
  }
}
