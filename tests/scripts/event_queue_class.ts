abstract class Shape {
  abstract readonly kind: string;
  protected constructor(private readonly scale = 1) {}
  abstract area(): number;
  describe(): string {
    return `${this.kind} of ${(this.area() * this.scale).toFixed(1)}`;
  }
}

class Circle extends Shape {
  readonly kind = 'circle';
  constructor(private radius: number) {
    super();
  }
  area() {
    return Math.PI * this.radius ** 2;
  }
}

class Square extends Shape {
  readonly kind = 'square';
  #side: number;
  static count = 0;
  constructor(side: number) {
    super(2);
    this.#side = side;
    Square.count++;
  }
  area = () => this.#side ** 2;
}

const shapes: Shape[] = [new Circle(1), new Square(2), new Square(3)];
const echoes: string[] = [];
for (const shape of shapes) echoes.push(await everything.echo({ message: shape.describe() }));
return { echoes, squares: Square.count };
