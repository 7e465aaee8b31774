// What is selected: a finding, and a tensor's family. Every view listens.

class Chosen {
  finding = -1;
  tensor = -1;   // A root.
  range = -1;    // One of its ranges on the map.
  private readonly listeners: (() => void)[] = [];

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  private tell(): void {
    for (const listener of this.listeners) listener();
  }
  selectFinding(finding: number, tensor: number): void {
    this.finding = finding;
    this.tensor = tensor;
    this.range = -1;
    this.tell();
  }
  selectRange(range: number, tensor: number): void {
    this.range = range;
    this.tensor = tensor;
    this.tell();
  }
  selectTensor(tensor: number): void {
    this.selectRange(-1, tensor);
  }
}
